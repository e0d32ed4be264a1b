package wording

// Sum returns the sum of numbers.
func Sum(numbers []float64) float64 {
	sum := 0.0
	for _, n := range numbers {
		sum += n
	}
	return sum
}

// Spark is a small chart: a bar for each day.
type Spark []Bar

// Bar is a bar of a Spark, in a box of sparkWidth for each bar and sparkHeight.
type Bar struct{ X, Y, Height int }

const (
	sparkWidth  = 6
	sparkHeight = 20
)

// SparkOf returns the chart of numbers, none if all of them are 0.
func SparkOf(numbers []float64) Spark {
	highest := 0.0
	for _, n := range numbers {
		highest = max(highest, n)
	}
	if highest == 0 {
		return nil
	}
	var bars Spark
	for i, n := range numbers {
		height := max(1, int(n/highest*sparkHeight))
		bars = append(bars, Bar{i * sparkWidth, sparkHeight - height, height})
	}
	return bars
}
