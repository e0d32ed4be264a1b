// Package approvals stores the sends that wait for a person, the decisions about them, and
// the policies that hold sends back.
package approvals
