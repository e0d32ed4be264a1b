// Package wording says workflows, their faults and their runs in words, for the dashboard's
// pages. It also draws workflows.
//
// Names, sources and the details of events are texts of other people. The words have no
// invisible characters, and the templates of the pages escape them.
package wording
