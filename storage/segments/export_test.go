package segments

import (
	"context"
	"strings"

	"github.com/mailhelm/mailhelm/core/segments"
	"github.com/mailhelm/mailhelm/storage/engine"
)

// This file exports internals to the external tests.

// Matching returns the ids of the contacts that a predicate's SQL finds.
func Matching(ctx context.Context, db *engine.DB, q segments.Question) ([]string, error) {
	return matchingContacts(ctx, db, &q)
}

// PredicateSQL returns the SQL and arguments that count the contacts of a question, as
// the engine reads them.
func PredicateSQL(name string, q segments.Question) (string, []any, error) {
	e := engine.Dialect(name)
	c, err := conditionOf(e, &q, "")
	if err != nil {
		return "", nil, err
	}
	text, args := numberParameters(c.selectQuery(`count(*)`), c.args)
	return e.Text(text), args, nil
}

// Plan returns the plan of the query that counts the contacts of a question.
func Plan(ctx context.Context, db *engine.DB, q segments.Question) (string, error) {
	c, err := conditionOn(db, &q)
	if err != nil {
		return "", err
	}
	lines, err := engine.Rows(ctx, db, c.query("plan", `EXPLAIN (COSTS OFF) `+c.selectQuery(`count(*)`)), scanID)
	return strings.Join(lines, "\n"), err
}

// SamplePlan returns the plan of the query of examples.
func SamplePlan(ctx context.Context, db *engine.DB, q segments.Question) (string, error) {
	c, err := conditionOn(db, &q)
	if err != nil {
		return "", err
	}
	lines, err := engine.Rows(ctx, db, c.query("plan", `EXPLAIN (COSTS OFF) `+c.sampleQuery(1)), scanID)
	return strings.Join(lines, "\n"), err
}
