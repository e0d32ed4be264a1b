// Package predicate is the language in which segments, and conditions of
// workflows, say which contacts they mean: profile 1.
//
//	attr.plan = "pro" and count(activity.purchase within 30d) >= 1
//
// The road is Parse (text to Tree: syntax, names as written), Check (Tree and
// Schema to Checked: every name known, every comparison of one type) and then one
// of two back ends that must agree: Match here, for one contact in memory, and SQL
// in package storage, for all. Both walk the nodes of node.go, a closed set; what
// each node means is written there and is the whole contract between them.
//
// Three values. A test is True, False or Unknown. A test of an absent value is
// Unknown; not Unknown is Unknown; and is the least of its terms and or the
// greatest, in the order False < Unknown < True. A contact is in when the whole is
// True. This is the logic of SQL with NULL for Unknown.
//
// Values. Strings are valid UTF-8 without U+0000 and are compared byte by byte:
// case matters, no locale, no normalization. An enum is a string here. Numbers are
// IEEE 754 doubles compared as such, of magnitude at most [MaxNumber]. Moments are
// whole microseconds since 1970 in UTC; finer fractions are cut off toward the
// past. A month is 30 days and a year is 365 days, each day 24 hours. A value whose
// type is not the one its registration says is as absent as none.
//
// The package is pure: no storage, no network, no clock. It knows nothing of where
// attributes are kept or of when a segment is evaluated.
package predicate

// ProfileVersion is the version of the language that this package speaks.
const ProfileVersion = 1
