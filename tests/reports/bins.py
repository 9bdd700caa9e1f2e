"""Programs about bins of times: their edges count from the first of all rows."""

from __future__ import annotations

#: Rows of 13 days, of years and of months, with and without a zone.
START = """
days = lazy(pd.Series([1, 2, 3, 4, 5, 6], pd.date_range("2023-01-05", periods=6, freq="13D")))
years = lazy(pd.Series(range(9), index=pd.date_range("2001-01-01", periods=9, freq="YS")))
months = lazy(pd.Series(range(9), index=pd.date_range("2001-01-01", periods=9, freq="MS")))
times = pd.date_range("2023-03-20", periods=9, freq="50h", tz="Europe/Berlin")
berlin = lazy(pd.Series(range(9), times))
pairs = pd.DataFrame({"w": list("pqpq"), "n": [1, 2, 3, 4]})
pairs.index = pd.to_datetime(["2020-01-01"] * 2 + ["2020-08-01"] * 2)
pairs = lazy(pairs.rename_axis("d"))
"""

EXPRESSIONS: dict[str, str] = {
    **{
        f"resample {rule}": f"days.resample('{rule}').sum()"
        for rule in ("2W", "3W", "2ME", "3MS", "2QS", "2YE", "5B", "2SME", "30D", "W", "ME", "h")
    },
    **{
        f"resample {rule} with a zone": f"berlin.resample('{rule}').sum()"
        for rule in ("2D", "3D", "7D", "15D", "30D", "2W", "2ME", "D", "7h")
    },
    "resample years": "years.resample('2YS').sum()",
    "resample years by ends": "years.resample('3YE').count()",
    "resample months": "months.resample('6MS').mean()",
    "resample months by quarters": "months.resample('2QE').first()",
    "resample days by months": "days.resample('2MS').max()",
    "resample right": "days.resample('2ME', closed='left', label='right').sum()",
    "resample at the start": "months.resample('2MS', origin='start').sum()",
    "resample transform": "days.resample('2ME').transform('sum')",
    "resample apply": "days.resample('2ME').apply(lambda rows: rows.sum())",
    "resample agg": "days.resample('2W').agg(['min', 'max'])",
    "resample size": "days.resample('2QS').size()",
    "resample a column": "days.rename('v').reset_index().resample('2W', on='index').v.sum()",
    "resample ffill": "years.resample('5MS').ffill()",
    "resample asfreq": "years.resample('7MS').asfreq()",
    "Grouper": "days.groupby(pd.Grouper(freq='2ME')).sum()",
    "Grouper with a zone": "berlin.groupby(pd.Grouper(freq='7D')).sum()",
    "Grouper and a key": "pairs.groupby([pd.Grouper(freq='6MS'), 'w']).sum()",
    "Grouper and a key, weeks": "pairs.groupby(['w', pd.Grouper(freq='3W')]).n.max()",
    "Grouper transform": "pairs.groupby([pd.Grouper(freq='6MS'), 'w']).transform('sum')",
    "truncate periods": """
p = lazy(pd.Series(range(12), index=pd.period_range("2000Q1", periods=12, freq="Q-FEB")))
p.truncate("2001Q1", "2001Q3")""",
    "truncate periods, months": """
p = lazy(pd.Series(range(12), index=pd.period_range("2000-01", periods=12, freq="M")))
p.truncate("2000-03", "2000-07")""",
    "rolling periods": """
p = lazy(pd.Series(range(4), index=pd.period_range("2000-01-01", periods=4, freq="min")))
p.rolling("2min").sum()""",
    **{
        f"weights by times: {times}": f"days.ewm(halflife='20D', times={times}).mean()"
        for times in ("days.index", "days.index.to_series()", "days.index.to_numpy()")
    },
    "label minus a day": "days.index[-1] - pd.offsets.Day(1)",
    "label minus a business day": "days.index[-1] - pd.offsets.BDay()",
    "label plus a month": "days.index[0] + pd.offsets.MonthEnd(2)",
}

PROGRAMS = {name: f"{START}\n{text.strip()}" for name, text in EXPRESSIONS.items()}
