//! Statistics of many numbers: distributions, quantiles, intervals, histograms. Knows nothing of profiles.
