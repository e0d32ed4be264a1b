package partitions

import (
	"context"
	"errors"
	"fmt"
	"io"
)

// ErrInjected is the error of a [Failing] Keeper.
var ErrInjected = errors.New("injected failure")

// MostMoved is the largest number of rows of the default partition that a Failing Keeper moves at
// once.
const MostMoved = 2000

// MostKept is the largest number of rows that move when their partition is dropped.
const MostKept = mostKept

// Failures fails each statement the first time before it runs and the second time after it ran,
// and each commit in the same way.
type Failures map[string]int

// Failing returns a Keeper whose statements fail.
func (k Keeper) Failing(f Failures) Keeper { return Keeper{k.db, failing{k.from, f}, MostMoved} }

type failing struct {
	opener
	failures Failures
}

func (f failing) open(ctx context.Context) (transaction, error) {
	tx, err := f.opener.open(ctx)
	return &failingTransaction{tx, f.failures, "begin"}, err
}

func (f failing) alone(ctx context.Context, text string) error {
	tx := failingTransaction{nil, f.failures, ""}
	return tx.around(text, func() error { return f.opener.alone(ctx, text) })
}

type failingTransaction struct {
	transaction
	failures Failures
	// last is the last statement, which distinguishes commits.
	last string
}

// around runs one part of a transaction, or fails before or after it.
func (f *failingTransaction) around(name string, run func() error) error {
	f.last = name
	f.failures[name]++
	if f.failures[name] == 1 {
		return ErrInjected
	}
	if err := run(); err != nil {
		return err
	}
	if f.failures[name] == 2 {
		return ErrInjected
	}
	return nil
}

func (f *failingTransaction) exec(ctx context.Context, text string) error {
	return f.around(text, func() error { return f.transaction.exec(ctx, text) })
}

func (f *failingTransaction) commit() error {
	return f.around("commit after "+f.last, f.transaction.commit)
}

// Announced returns a Keeper that prints a line before each statement and each commit.
func (k Keeper) Announced(to io.Writer) Keeper { return Keeper{k.db, announced{k.from, to}, MostMoved} }

type announced struct {
	opener
	to io.Writer
}

func (a announced) open(ctx context.Context) (transaction, error) {
	tx, err := a.opener.open(ctx)
	return announcedTransaction{tx, a.to}, err
}

func (a announced) alone(ctx context.Context, text string) error {
	_, _ = fmt.Fprintln(a.to, "statement")
	return a.opener.alone(ctx, text)
}

type announcedTransaction struct {
	transaction
	to io.Writer
}

func (a announcedTransaction) exec(ctx context.Context, text string) error {
	_, _ = fmt.Fprintln(a.to, "statement") // fails if the test has ended
	return a.transaction.exec(ctx, text)
}

func (a announcedTransaction) commit() error {
	_, _ = fmt.Fprintln(a.to, "commit")
	return a.transaction.commit()
}
