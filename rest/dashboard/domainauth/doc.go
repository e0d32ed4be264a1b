// Package domainauth has the dashboard pages about domain authentication: who sends mail in the
// name of the organization's domains, and whether their DMARC policies may become stricter.
//
// The figures and the rules are those of core/domainauth; the pages call its operations. This
// package decides how they are shown, and says in plain words what a criterion measures and what
// to do next. No page publishes a record: a record is a text to copy.
package domainauth
