"""Statistical tests and moments over chunks, with p-values by scipy.special."""

from .frequencies import chisquare, entropy, power_divergence
from .ks_test import ks_1samp, ks_2samp
from .moments import kurtosis, kurtosistest, moment, normaltest, skew, skewtest
from .rankdata import rankdata
from .variance import f_oneway, ttest_1samp, ttest_ind, ttest_ind_from_stats, ttest_rel

__all__ = [
    "chisquare",
    "entropy",
    "f_oneway",
    "ks_1samp",
    "ks_2samp",
    "kurtosis",
    "kurtosistest",
    "moment",
    "normaltest",
    "power_divergence",
    "rankdata",
    "skew",
    "skewtest",
    "ttest_1samp",
    "ttest_ind",
    "ttest_ind_from_stats",
    "ttest_rel",
]
