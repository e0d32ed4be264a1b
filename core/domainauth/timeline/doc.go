// Package timeline has the events of a domain's timeline. [Sightings] finds the changes of a
// record that polls and reports show, and [Fold] makes one event of all sightings of the same
// change.
//
// A change of a record is seen in two ways. Polls of DNS see the record itself. Reports
// state the policy that the receiver found. Both see the change later than it happened, at
// different times and in any order, because reports arrive days later and files of past
// months can be imported. The package stores nothing and asks neither DNS nor reports.
package timeline
