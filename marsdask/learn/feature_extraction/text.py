"""Counts of the terms of texts."""

from __future__ import annotations

from collections import Counter
from numbers import Integral
from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.feature_extraction import text
from sklearn.feature_extraction.text import (
    ENGLISH_STOP_WORDS,
    strip_accents_ascii,
    strip_accents_unicode,
    strip_tags,
)

from marsdask.learn.base import RowsEstimator, is_lazy
from marsdask.learn.metrics.operands import as_operand
from marsdask.learn.rows import fold

from .hashing import OfItems

__all__ = [
    "ENGLISH_STOP_WORDS",
    "CountVectorizer",
    "HashingVectorizer",
    "strip_accents_ascii",
    "strip_accents_unicode",
    "strip_tags",
]

#: Bytes that the terms of a chunk are taken to need.
TERM_BYTES = 2**20


class HashingVectorizer(OfItems, RowsEstimator, text.HashingVectorizer):
    """Hash terms of texts to columns. See sklearn.feature_extraction.text.HashingVectorizer.

    Differs from scikit-learn: takes series of texts, and tensors of one axis; the rows of a lazy
    result are sparse blocks.

    Examples
    --------
    >>> from marsdask.learn.feature_extraction.text import HashingVectorizer
    >>> texts = md.Series(["a cat", "a dog"], chunk_size=1)
    >>> HashingVectorizer(n_features=8).transform(texts).shape
    (2, 8)
    """


class Terms(NamedTuple):
    """How many texts there are, how many have each term, and how often it occurs."""

    texts: int
    frequency: Counter[str]
    occurrences: Counter[str]


class CountVectorizer(OfItems, RowsEstimator, text.CountVectorizer):
    """Count the terms of texts. See sklearn.feature_extraction.text.CountVectorizer.

    Differs from scikit-learn: takes series of texts, and tensors of one axis; the rows of a lazy
    result are sparse blocks. All terms, with their counts, have to fit the memory of this process.

    Examples
    --------
    >>> from marsdask.learn.feature_extraction.text import CountVectorizer
    >>> model = CountVectorizer().fit(md.Series(["my cat", "my dog"], chunk_size=1))
    >>> model.transform(md.Series(["cat cat dog"])).compute().toarray()
    array([[2, 1, 0]])
    """

    def fit(self, raw_documents: Any, y: Any = None) -> Self:
        """Find the terms."""
        if not is_lazy(raw_documents):
            super().fit(raw_documents, y)
            return self
        self._validate_params()
        self._validate_ngram_range()
        self._warn_for_unused_params()
        self._validate_vocabulary()
        if not self.fixed_vocabulary_:
            how = {"model": self.to_sklearn()}
            terms = fold(terms_of, merge, as_operand(raw_documents), nbytes=TERM_BYTES, **how)
            self.vocabulary_ = self._kept(terms)
        return self

    def fit_transform(self, raw_documents: Any, y: Any = None) -> Any:
        """Find the terms, and count them."""
        if not is_lazy(raw_documents):
            return super().fit_transform(raw_documents, y)
        return self.fit(raw_documents).transform(raw_documents)

    def transform(self, raw_documents: Any) -> Any:
        """Count the terms of each text."""
        if not is_lazy(raw_documents):
            return super().transform(raw_documents)
        self._check_vocabulary()
        return self._predictions("transform", raw_documents)

    def _kept(self, terms: Terms) -> dict[str, int]:
        """Return the terms that are frequent and rare enough, with their columns."""
        if not terms.frequency:
            raise ValueError("empty vocabulary; perhaps the documents only contain stop words")
        limits = [
            limit if isinstance(limit, Integral) else limit * terms.texts
            for limit in (self.min_df, self.max_df)
        ]
        if limits[1] < limits[0]:
            raise ValueError("max_df corresponds to < documents than min_df")
        names = sorted(terms.frequency)
        frequency = np.array([terms.frequency[name] for name in names])
        indices = np.flatnonzero((frequency >= limits[0]) & (frequency <= limits[1]))
        if self.max_features is not None and len(indices) > self.max_features:
            total = frequency if self.binary else np.array([terms.occurrences[n] for n in names])
            # scikit-learn sorts so: of equally frequent terms the same ones are kept.
            indices = np.sort(indices[(-total[indices]).argsort()[: self.max_features]])
        if not len(indices):
            raise ValueError(
                "After pruning, no terms remain. Try a lower min_df or a higher max_df."
            )
        return {names[place]: column for column, place in enumerate(indices)}


def terms_of(texts: Any, *, model: Any) -> Terms:
    """Return the terms of a run of texts."""
    analyze = model.build_analyzer()
    frequency: Counter[str] = Counter()
    occurrences: Counter[str] = Counter()
    for item in texts:
        terms = list(analyze(item))
        occurrences.update(terms)
        frequency.update(set(terms))
    return Terms(len(texts), frequency, occurrences)


def merge(a: Terms, b: Terms) -> Terms:
    """Return the terms of both."""
    return Terms(a.texts + b.texts, a.frequency + b.frequency, a.occurrences + b.occurrences)
