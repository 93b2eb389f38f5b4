"""Accuracy: what is done with the calibration samples when a prepared model is converted; see `tuner`."""
