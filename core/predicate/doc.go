// Package predicate implements version 1 of the language in which segments and conditions
// of workflows describe contacts.
//
//	attr.plan = "pro" and count(activity.purchase within 30d) >= 1
//
// Parse turns the text of a predicate into a Tree, which has valid syntax and names as
// written. Check turns a Tree and a Schema into a Checked, in which every name is resolved
// and every comparison has one type. Two back ends evaluate a Checked: Match here, for one
// contact in memory, and package storage/segments, which translates it to SQL for all
// contacts. They must have the same results. The node types of node.go are a closed set.
// Their comments define what each node means and are the whole contract between the back
// ends. NextChange returns when the result of Match for a contact may change as time passes.
//
// Three values. The result of a test is True, False or Unknown. A test of an absent value
// is Unknown. "not Unknown" is Unknown. The result of "and" is the least and that of "or"
// the greatest result of its terms, in the order False < Unknown < True. A contact matches
// if the result of the predicate is True. This is the logic of SQL, where NULL is Unknown.
//
// Values. Strings are valid UTF-8 without U+0000 and are compared byte by byte: case
// matters, with no locale and no normalization. An enum is treated as a string. Numbers are
// IEEE 754 doubles of magnitude at most [MaxNumber]. Points in time are whole microseconds
// since 1970 in UTC; finer fractions are rounded down. A month is 30 days and a year is 365
// days, each day 24 hours. A value whose type differs from the registered type counts as
// absent.
//
// The package is pure: it uses no storage, no network and no clock. It does not depend on
// where attributes are stored or when a segment is evaluated.
//
// # Size
//
// It is one package because all steps share the node types. Only Check may construct a
// Checked, because Match, Weigh and Lint rely on its checks. If the steps were separate
// packages, any package could construct one.
package predicate

// ProfileVersion is the version of the predicate language that this package implements.
const ProfileVersion = 1
