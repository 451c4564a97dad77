"""How time grows with size: a line, and the power of the size that fits best."""
import math
import statistics


def line_through(points):
    """Least squares: (seconds at size 0, seconds per byte, largest relative distance of a point from the line)."""
    mean_x, mean_y = (statistics.fmean(axis) for axis in zip(*points))
    slope = sum((x - mean_x) * (y - mean_y) for x, y in points) / sum((x - mean_x) ** 2 for x, _ in points)
    start = mean_y - slope * mean_x
    return start, slope, max(abs(y - start - slope * x) / y for x, y in points)


def exponent(points):
    """Slope of log(time) over log(size): 1 is linear."""
    return line_through([(math.log(x), math.log(y)) for x, y in points])[1]


def growth_points(run, measure):
    return [(result.input.bytes, measure(result.figures["report"])) for result in run.growth
            if result.figures["report"].ok]
