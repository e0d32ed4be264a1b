// Command drivers compares drivers of SQLite without cgo on the statements of Mailhelm's most used operations, which
// "go test ./conformance/load -bench Operations -load.statements FOLDER" recorded. "make drivers" does both.
//
// A recording has the text of the statements with the values of their parameters. Each driver prepares the statements
// of an operation once, on one connection to a copy of the database before the call. It then runs them again and again,
// those of a write in a transaction that is rolled back, so that every run finds the same rows. All columns of all rows
// are read. The drivers take turns in one process, and processor time is compared within a round, because other work on
// the machine then slows down each of them alike.
//
// The command is a module of its own, which "go test ./..." and "make lint" do not read. It runs on Linux.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"time"
)

func main() {
	rounds := flag.Int("rounds", 9, "measure each driver this many times")
	turn := flag.Duration("turn", 100*time.Millisecond, "run the statements of an operation for this long in a round")
	flag.Usage = func() {
		fmt.Fprintln(flag.CommandLine.Output(), "Compares drivers of SQLite on the statements that a benchmark recorded.\n\n  drivers [flags] FOLDER\n\nFlags:")
		flag.PrintDefaults()
	}
	flag.Parse()
	if flag.NArg() != 1 {
		flag.Usage()
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, flag.Arg(0), *rounds, *turn, os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "drivers:", err)
		os.Exit(1)
	}
}

// run measures every recording of a folder and writes the table: microseconds of the first driver, and how many times
// as fast as it each other is.
func run(ctx context.Context, folder string, rounds int, turn time.Duration, out io.Writer) error {
	recordings, err := read(folder)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "| statements of | number | %s µs |", drivers[0].name)
	for _, d := range drivers[1:] {
		fmt.Fprintf(out, " %s |", d.name)
	}
	fmt.Fprintf(out, "\n|---|--:|%s\n", strings.Repeat("--:|", len(drivers)))
	ratios := make([][]float64, len(drivers))
	for _, r := range recordings {
		times, err := measure(ctx, folder, r, rounds, turn)
		if err != nil {
			return fmt.Errorf("%s: %w", r.Operation, err)
		}
		fmt.Fprintf(out, "| %s | %d | %.0f |", r.Operation, len(r.Statements), 1e6*median(times[0]))
		for i := 1; i < len(drivers); i++ {
			ratio := median(quotients(times[0], times[i]))
			ratios[i] = append(ratios[i], ratio)
			fmt.Fprintf(out, " %.2f |", ratio)
		}
		fmt.Fprintln(out)
	}
	fmt.Fprint(out, "| **median of the operations** | | |")
	for _, of := range ratios[1:] {
		fmt.Fprintf(out, " **%.2f** |", median(of))
	}
	fmt.Fprintln(out)
	return nil
}

// quotients returns a[i]/b[i] of each i.
func quotients(a, b []float64) []float64 {
	all := make([]float64, len(a))
	for i := range a {
		all[i] = a[i] / b[i]
	}
	return all
}

// median returns the middle value, of an even number of values the upper one of both.
func median(values []float64) float64 { return slices.Sorted(slices.Values(values))[len(values)/2] }
