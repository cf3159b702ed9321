"""Metrics and their samples, as Prometheus reads them."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

from prometheus_client.core import Metric as Family

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


@dataclass(frozen=True, slots=True)
class Metric:
    """A metric: its name, type, labels and meaning."""

    name: str
    kind: Literal["gauge", "counter", "histogram"]
    labels: tuple[str, ...]
    text: str
    answers: str = ""

    def family(self) -> Family:
        """A family without samples."""
        return Family(self.name.removesuffix("_total"), self.text, self.kind)


class Sample(NamedTuple):
    """A value of a metric; `labels` are the values of its labels, in order."""

    metric: Metric
    value: float
    labels: tuple[str, ...] = ()


class MetricSet:
    """The samples of all metrics at one time."""

    def __init__(self, metrics: Iterable[Metric]) -> None:
        self._families = {one.name: one.family() for one in metrics}

    def put(self, metric: Metric, value: float, *labels: str) -> None:
        self._families[metric.name].add_sample(metric.name, _labels(metric, labels), value)

    def add(self, samples: Iterable[Sample]) -> None:
        """Add all samples, or none when one is invalid.

        Raises: KeyError for a metric that is not in the set; ValueError for the wrong number of labels.
        """
        checked = [(self._families[each.metric.name], each, _labels(each.metric, each.labels)) for each in samples]
        for family, sample, labels in checked:
            family.add_sample(sample.metric.name, labels, sample.value)

    def put_histogram(self, metric: Metric, values: Distribution, *labels: str) -> None:
        """The samples of a histogram."""
        family, named = self._families[metric.name], _labels(metric, labels)
        seen = 0
        for bound, count in zip([*map(str, values.bounds), "+Inf"], values.counts, strict=True):
            seen += count
            family.add_sample(f"{metric.name}_bucket", {**named, "le": bound}, seen)
        family.add_sample(f"{metric.name}_count", named, seen)
        family.add_sample(f"{metric.name}_sum", named, values.total)

    def collect(self) -> Iterable[Family]:
        return self._families.values()


def _labels(metric: Metric, values: tuple[str, ...]) -> dict[str, str]:
    return dict(zip(metric.labels, values, strict=True))


class Distribution:
    """The number of values in each bucket, and their sum."""

    __slots__ = ("bounds", "counts", "total")

    def __init__(self, bounds: Sequence[float]) -> None:
        self.bounds = bounds
        self.counts = [0] * (len(bounds) + 1)  # the last bucket is above all bounds
        self.total = 0.0

    @property
    def count(self) -> int:
        return sum(self.counts)

    def observe(self, value: float) -> None:
        self.add(bisect_left(self.bounds, value), 1, value)

    def add(self, bucket: int, count: int, total: float) -> None:
        self.counts[bucket] += count
        self.total += total

    def merge(self, other: Distribution) -> None:
        self.counts = [mine + theirs for mine, theirs in zip(self.counts, other.counts, strict=True)]
        self.total += other.total

    def mean(self) -> float | None:
        return self.total / self.count if self.count else None

    def quantile(self, share: float) -> float | None:
        """An estimate, as in Prometheus: values are spread evenly within their bucket."""
        wanted, seen, lower = share * self.count, 0, 0.0
        for bound, count in zip(self.bounds, self.counts, strict=False):
            if count and seen + count >= wanted:
                return lower + (bound - lower) * (wanted - seen) / count
            seen, lower = seen + count, bound
        return lower if self.count else None
