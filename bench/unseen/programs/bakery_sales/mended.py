"""Forecasts the sales of a chain of bakeries day by day, each day from the forecasts before it."""
import statistics
import time

import numpy as np
import pandas as pd
import torch
from torch import nn
from torch.nn import functional as F

SEED = 97
SHOPS = 20
PRODUCTS = 20
DAYS = 160
HORIZON = 90
LAGS = [1, 2, 7, 14, 28]
WINDOWS = [7, 14, 28]
FEATURES = [f"lag_{lag}" for lag in LAGS] + [f"mean_{window}" for window in WINDOWS]
FEATURES += ["spread_28", "weekday_sin", "weekday_cos"]
SERIES = ["shop", "product"]
TRAIN_STEPS = 60


def make_sales():
    """Sales with the rhythm of the week, a slow drift per shop, and chance."""
    rng = np.random.default_rng(SEED)
    dates = pd.date_range("2023-01-02", periods=DAYS, name="date")
    index = pd.MultiIndex.from_product([dates, range(SHOPS), range(PRODUCTS)], names=["date", *SERIES])
    weekday = np.arange(DAYS) % 7
    rhythm = rng.uniform(0.6, 1.5, size=(PRODUCTS, 7)).T[weekday]
    drift = 1 + np.cumsum(rng.normal(0, 0.01, size=(DAYS, SHOPS)), axis=0)
    level = rng.gamma(4, 10, size=(SHOPS, PRODUCTS))
    expected = level * rhythm[:, None, :] * drift[:, :, None].clip(0.2)
    sold = rng.poisson(expected.reshape(-1)).astype(np.float64)
    return pd.DataFrame({"sold": np.log1p(sold)}, index=index).reset_index()


def add_features(sales):
    """What was sold some days ago, means over past weeks, and the day of the week."""
    sales = sales.copy()
    by_series = sales.groupby(SERIES)["sold"]
    for lag in LAGS:
        sales[f"lag_{lag}"] = by_series.shift(lag)
    past = sales["lag_1"].groupby([sales[name] for name in SERIES])
    for window in WINDOWS:
        sales[f"mean_{window}"] = past.rolling(window).mean().droplevel(SERIES)
    sales["spread_28"] = past.rolling(28).std().droplevel(SERIES)
    angle = sales["date"].dt.day_of_week * (2 * np.pi / 7)
    sales["weekday_sin"] = np.sin(angle)
    sales["weekday_cos"] = np.cos(angle)
    return sales


class SalesModel(nn.Module):
    """A network with an embedding for each shop and each product."""

    def __init__(self, width=512):
        super().__init__()
        self.shop = nn.Embedding(SHOPS, 16)
        self.product = nn.Embedding(PRODUCTS, 16)
        self.layers = nn.Sequential(
            nn.Linear(len(FEATURES) + 32, width), nn.ReLU(),
            nn.Linear(width, width), nn.ReLU(),
            nn.Linear(width, 1),
        )

    def forward(self, features, shop, product):
        change = self.layers(torch.cat([features, self.shop(shop), self.product(product)], dim=1))
        return features[:, 0] + change.squeeze(1)


def to_tensors(rows):
    features = torch.from_numpy(rows[FEATURES].to_numpy(dtype=np.float32, copy=True))
    return features, *(torch.from_numpy(rows[name].to_numpy(dtype=np.int64, copy=True)) for name in SERIES)


def train(model, sales):
    table = add_features(sales).dropna()
    inputs = to_tensors(table)
    sold = torch.from_numpy(table["sold"].to_numpy(dtype=np.float32, copy=True))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for _ in range(TRAIN_STEPS):
        rows = torch.randint(len(sold), (1024,))
        loss = F.smooth_l1_loss(model(*(column[rows] for column in inputs)), sold[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


@torch.inference_mode()
def forecast_day(model, history):
    """Appends the forecast of the day after the last one to the history."""
    day = history["date"].iloc[-1] + pd.Timedelta(days=1)
    tomorrow = history.iloc[-SHOPS * PRODUCTS:].assign(date=day, sold=np.nan)
    recent = history.iloc[-SHOPS * PRODUCTS * max(LAGS):]
    table = add_features(pd.concat([recent, tomorrow], ignore_index=True))
    rows = table[table["date"] == day]
    tomorrow["sold"] = model(*to_tensors(rows)).numpy().astype(np.float64)
    return pd.concat([history, tomorrow], ignore_index=True)


def main():
    torch.set_num_threads(2)
    torch.manual_seed(SEED)
    history = make_sales()
    model = SalesModel()
    train(model, history)

    step_times = []
    for _ in range(HORIZON):
        start = time.perf_counter()
        history = forecast_day(model, history)
        step_times.append(time.perf_counter() - start)

    print(f"step_ms={statistics.median(step_times[5:]) * 1000:.2f}")
    print(f"result={history['sold'].iloc[-SHOPS * PRODUCTS * HORIZON:].mean():.6f}")


if __name__ == "__main__":
    main()
