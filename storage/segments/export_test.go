package segments

import (
	"context"
	"strings"

	"github.com/mailhelm/mailhelm/core/segments"
	"github.com/mailhelm/mailhelm/storage/engine"
)

// This file exports unexported functions to the external tests.

// Matching returns the ids of the contacts that match a predicate, according to its SQL.
func Matching(ctx context.Context, db *engine.DB, q segments.Question) ([]string, error) {
	return matchingContacts(ctx, db, &q)
}

// PredicateSQL returns the SQL that counts the contacts that match a predicate, and its
// arguments. name is the database engine for which the SQL is compiled.
func PredicateSQL(name string, q segments.Question) (string, []any, error) {
	e := engine.Dialect(name)
	c, err := conditionOf(e, &q, "")
	if err != nil {
		return "", nil, err
	}
	text, args := numberParameters(c.selectQuery(`count(*)`), c.args)
	return e.Text(text), args, nil
}

// Plan returns PostgreSQL's plan for the query that counts the contacts that match a
// predicate.
func Plan(ctx context.Context, db *engine.DB, q segments.Question) (string, error) {
	c, err := conditionOn(db, &q)
	if err != nil {
		return "", err
	}
	lines, err := engine.Rows(ctx, db, c.query("plan", `EXPLAIN (COSTS OFF) `+c.selectQuery(`count(*)`)), scanID)
	return strings.Join(lines, "\n"), err
}

// SamplePlan returns PostgreSQL's plan for the query that reads example contacts that match
// a predicate.
func SamplePlan(ctx context.Context, db *engine.DB, q segments.Question) (string, error) {
	c, err := conditionOn(db, &q)
	if err != nil {
		return "", err
	}
	lines, err := engine.Rows(ctx, db, c.query("plan", `EXPLAIN (COSTS OFF) `+c.sampleQuery(1)), scanID)
	return strings.Join(lines, "\n"), err
}
