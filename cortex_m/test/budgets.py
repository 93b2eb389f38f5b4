"""The limits that a cortex_m_test sets, and what it says of them."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass, fields

from cortex_m.parts import parts
from cortex_m.test.accuracy import Accuracy
from cortex_m.test.figures import Figures, flash_table, layer_table, percent, ram_table


@dataclass(frozen=True)
class Budgets:
    """None where there is no limit. cortex_m/rules/test.bzl says what each is of."""

    max_flash_bytes: int | None = None
    max_ram_bytes: int | None = None
    max_instructions: int | None = None
    min_sqnr_db: float | None = None
    min_top1_agreement: float | None = None

    @classmethod
    def from_options(cls, options: argparse.Namespace) -> Budgets:
        """Raises ValueError for limits that nothing can keep or that have no meaning on the host."""
        budgets = cls(**{field.name: getattr(options, field.name) for field in fields(cls)})
        for name in ("max_flash_bytes", "max_ram_bytes", "max_instructions"):
            limit = getattr(budgets, name)
            if limit is not None and options.core == "host":
                raise ValueError(f"{name} is a budget of a board; a program of this machine has no such figure")
            if limit is not None and limit <= 0:
                raise ValueError(f"{name} is {limit}; it must be above zero")
        if budgets.min_top1_agreement is not None and not 0 <= budgets.min_top1_agreement <= 1:
            raise ValueError(f"min_top1_agreement is {budgets.min_top1_agreement:g}; it is a part, 0 to 1")
        return budgets

    @property
    def of_costs(self) -> bool:
        return any(limit is not None for limit in (self.max_flash_bytes, self.max_ram_bytes, self.max_instructions))

    @property
    def of_accuracy(self) -> bool:
        return self.min_sqnr_db is not None or self.min_top1_agreement is not None

    def check(self, now: Figures | None, then: Figures | None, reached: Accuracy | None) -> tuple[list[str], list[str]]:
        """A sentence for each limit that is broken, and tables of where the figures come from. Raises ValueError if the
        accuracy has a limit and nothing is known of it."""
        sentences, tables = [], []
        if now is not None:
            for what, limit, value, unit, table in (
                ("flash", self.max_flash_bytes, now.flash_bytes, "bytes", flash_table),
                ("RAM", self.max_ram_bytes, now.ram_bytes, "bytes", ram_table),
                ("an inference", self.max_instructions, now.inference, "instructions", layer_table),
            ):
                if limit is not None and value > limit:
                    sentences.append(
                        f"{what} takes {value:,} {unit}, which is {value - limit:,} ({percent(limit, value)}) over the "
                        f"budget of {limit:,}"
                    )
                    tables.append(table(now, then))
        if tables and then is not None and now is not None and then.compiler != now.compiler:
            tables.append(
                f"The baseline was recorded with {then.compiler or 'an unknown compiler'}, this is {now.compiler}."
            )
        if self.of_accuracy and reached is None:
            raise ValueError("an accuracy is asked for, but no sample has outputs of the float model")
        if reached is not None and self.min_sqnr_db is not None and reached.worst_sqnr_db < self.min_sqnr_db:
            worst = reached.sqnr_db.index(reached.worst_sqnr_db)
            sentences.append(
                f"output {worst} has an SQNR of {reached.worst_sqnr_db:.2f} dB over {_samples(reached)}, "
                f"and at least {self.min_sqnr_db:g} dB are asked for"
            )
        if (
            reached is not None
            and self.min_top1_agreement is not None
            and reached.top1_agreement < self.min_top1_agreement
        ):
            sentences.append(
                f"the largest output agrees with the float model's in {100 * reached.top1_agreement:.2f} % of "
                f"{_samples(reached)}, and at least {100 * self.min_top1_agreement:g} % are asked for"
            )
        return sentences, tables


def summary(equal: str, budgets: Budgets, now: Figures | None, then: Figures | None, reached: Accuracy | None) -> str:
    """One line: what was compared, what it costs (of how much, and the change since the baseline), how close it is."""
    parts = [equal] if equal else []
    if now is not None:
        for what, value, recorded, limit in (
            ("flash {} bytes", now.flash_bytes, then.flash_bytes if then else None, budgets.max_flash_bytes),
            ("RAM {} bytes", now.ram_bytes, then.ram_bytes if then else None, budgets.max_ram_bytes),
            ("{} instructions", now.inference, then.inference if then else None, budgets.max_instructions),
        ):
            text = what.format(f"{value:,} of {limit:,}" if limit is not None else f"{value:,}")
            parts.append(f"{text} ({percent(recorded, value)})" if recorded is not None else text)
    if reached is not None:
        asked = f", at least {budgets.min_sqnr_db:g}" if budgets.min_sqnr_db is not None else ""
        parts.append(f"SQNR {reached.worst_sqnr_db:.2f} dB{asked}")
        asked = f", at least {100 * budgets.min_top1_agreement:g}" if budgets.min_top1_agreement is not None else ""
        parts.append(f"top-1 agreement {100 * reached.top1_agreement:.4g} %{asked}, {_samples(reached)}")
    return "; ".join(parts)


def check_part(name: str, core: str, cores: Sequence[str], now: Figures | None) -> list[str]:
    """A sentence if the runner, measured as `now`, does not fit the part; none on another core than the part's.

    cores: all that the model is tested on. Raises ValueError for a part that is unknown, or whose core is not among them.
    """
    part = parts.load(name)
    if part.core not in cores:
        raise ValueError(f"the part {part.name} has a {part.core}, which is not among the cores {', '.join(cores)}")
    if now is None or core != part.core:
        return []
    code, arena = now.flash_bytes - now.flash["model"], now.ram["arena"]
    missing = parts.fit(part, now.flash["model"], arena, code, now.ram_bytes - arena).missing
    uses = {
        "flash": f"the model takes {now.flash['model']:,}, code and constants {code:,} of {part.flash_bytes:,}",
        "RAM": f"the arena takes {arena:,} in one piece, data and stack {now.ram_bytes - arena:,} of {part.ram_bytes:,}",
    }
    return [
        f"it does not fit {part.name}: {size:,} bytes of {kind} too little, {uses[kind]}"
        for kind, size in missing.items()
    ]


def _samples(reached: Accuracy) -> str:
    return f"{reached.samples} sample{'s' if reached.samples != 1 else ''}"
