// Package predicate implements the language in which segments, and conditions of
// workflows, describe contacts: profile 1.
//
//	attr.plan = "pro" and count(activity.purchase within 30d) >= 1
//
// A source goes through Parse and Check. Parse turns text into a Tree: syntax, with
// names as written. Check turns a Tree and a Schema into a Checked: every name known,
// every comparison of one type. Two back ends evaluate it and must agree: Match here,
// for one contact in memory, and SQL in package storage, for all contacts. Both walk the
// nodes of node.go, a closed set. The comments there define what each node means and are
// the whole contract between the back ends.
//
// Three values. A test is True, False or Unknown. A test of an absent value is Unknown.
// "not Unknown" is Unknown. "and" is the least and "or" the greatest of its terms, in
// the order False < Unknown < True. A contact matches when the whole is True. This is
// the logic of SQL with NULL for Unknown.
//
// Values. Strings are valid UTF-8 without U+0000 and are compared byte by byte: case
// matters, with no locale and no normalization. An enum is a string here. Numbers are
// IEEE 754 doubles of magnitude at most [MaxNumber]. Moments are whole microseconds
// since 1970 in UTC; finer fractions are rounded toward the past. A month is 30 days and
// a year is 365 days, each day 24 hours. A value whose type differs from its
// registration counts as absent.
//
// The package is pure: it uses no storage, no network and no clock. It does not depend
// on where attributes are stored or when a segment is evaluated.
//
// It is one package of 3,600 lines because all steps share the closed set of nodes. Only
// Check may construct a Checked, and Match, Weigh, Lint and Explain rely on what it has
// checked. In several packages, any package could construct one.
package predicate

// ProfileVersion is the version of the language that this package implements.
const ProfileVersion = 1
