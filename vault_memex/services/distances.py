"""Which distances are near in this vault: measured ones where there are, shipped ones else, the person's first."""

from __future__ import annotations

from collections.abc import Callable

from vault_memex.config import Config
from vault_memex.core.snapshot import Snapshot
from vault_memex.index.meaning import LONG_SECONDS, Meaning
from vault_memex.memory.kept_calibration import CALIBRATION, KeptCalibration, is_due, parse_kept
from vault_memex.memory.thresholds import Calibration, Thresholds, fix_thresholds, get_shipped
from vault_memex.store.catalogue import Catalogue

ASK_AGAIN = 100  # notes: what was asked for and did not come is asked for again when so many have come or gone


class Distances:
    """The thresholds in force. Asking is cheap: one row of the catalogue."""

    def __init__(
        self, config: Config, catalogue: Catalogue, meaning: Meaning, snapshot: Callable[[], Snapshot]
    ) -> None:
        self._fixed = dict(config.distances)
        self._catalogue = catalogue
        self._meaning = meaning
        self._snapshot = snapshot
        self._begun: tuple[KeptCalibration | None, int] | None = None  # for what measuring was asked for

    def find(self) -> Calibration:
        """Return the distances in force now. What is due to be measured is begun, and in force later."""
        kept = self.find_kept()
        state = kept, len(self._snapshot().notes) // ASK_AGAIN
        if state != self._begun and self._is_due(kept, whole=True) and self._meaning.calibrate_later():
            self._begun = state
        return self._fix(kept)

    def find_in_force(self) -> Thresholds:
        """Return the distances in force now, without beginning to measure: a search has no time to spare."""
        return self._fix(self.find_kept()).thresholds

    def measure(self, *, whole: bool = False, patience: float = LONG_SECONDS) -> Calibration:
        """Return the distances after measuring what is due; `whole`: also copies and queries, which takes longer.

        Raises MeaningUnavailable when there is no meaning in time.
        """
        if self._is_due(self.find_kept(), whole=whole):
            self._meaning.calibrate(whole=whole, patience=patience)
        return self.find()

    def find_kept(self) -> KeptCalibration | None:
        """Return what was measured; None before that, and when it was for another model."""
        kept = parse_kept(self._catalogue.get_state(CALIBRATION))
        return kept if kept is not None and kept.calibration.model == self._meaning.model else None

    def _is_due(self, kept: KeptCalibration | None, *, whole: bool) -> bool:
        return self._meaning.enabled and is_due(
            kept, self._meaning.model, len(self._snapshot().notes), whole=whole
        )

    def _fix(self, kept: KeptCalibration | None) -> Calibration:
        if kept is not None:
            return fix_thresholds(kept.calibration, self._fixed)
        model = self._meaning.model
        return fix_thresholds(Calibration(model, 0, get_shipped(model), measured=False), self._fixed)
