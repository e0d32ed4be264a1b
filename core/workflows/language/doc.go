// Package language implements version 1 of the language in which workflows are written.
//
//	workflow "Welcome" v1 {
//	  enter on segment "new-customers"
//	  exit "bought" when exists(activity.purchase within 7d)
//
//	  send "welcome" via topic "news"
//	  wait 3 days
//	  if attr.plan = "pro" {
//	    send "pro-tips"
//	  } else {
//	    send "upgrade"
//	  }
//	}
//
// Parse turns a source into a Tree with valid syntax and names as written. It reports all
// faults of a source at once. Check turns a Tree and a Schema into a Checked, in which every
// name exists and every predicate is checked. Tree.String returns the canonical spelling, and
// Format does the same with the comments of the source.
//
// Settings come before steps. Conditions are predicates of package predicate, and faults
// have its type [predicate.Error], so an editor shows both alike.
//
// # Steps and paths
//
// Steps run in the order of the source. The path of a step says where it is: its index among
// its neighbours, after the path of the step around it and the name of the arm. Indexes count
// from 0. For example "3.then.0" is the first step inside the first arm of the fourth step.
// Arms are named then, elseif1, elseif2 and so on, and else; arm1, arm2 and so on for a
// split; body for a repeat; timeout for a wait.
//
// # Durations
//
// Durations in settings and steps are words: 3 days. Inside of predicates they are compact:
// 3d. Both count the same: a month is 30 days, a day is 24 hours.
//
// The package is pure: it uses no storage, no network and no clock.
package language

// Version is the version of the language that this package implements, written "v1" in a
// source.
const Version = 1
