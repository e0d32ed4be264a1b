// Package guardrails has the checks and steps, called rails, between a caller and an
// operation. Both surfaces call operations only through a [Catalogue]. Only this package
// makes a Catalogue, so an operation cannot be mounted without its rails.
//
// The rails, in the order in which they run:
//
//	authenticate   the bearer credential becomes a principal      authenticate.go
//	limit          one token from the caller's bucket             limit.go
//	scopes         every scope the operation needs                scopes.go
//	environment    test credentials may not destroy               environment.go
//	validate       strict JSON, then the input schema             validate.go
//	git            definitions owned by a repository              git.go
//	replay         idempotency, explicit and derived keys         replay.go
//	confirm        signed agreement to what cannot be undone      confirm.go
//	prepare        the operation asks the outside                 commit.go
//	bulkhead       expensive reads wait for a slot                bulkhead.go
//	commit         transaction { do, audit line, replay record }  commit.go
//	present        the result in the surface's form               present.go
//
// The first two run in [Catalogue.Admit], once for an HTTP request and before its body is
// read. The others run in [Operation.Call]. The order is in guard.go; a test compares it
// with this list.
//
// An operation has exactly the effect that a person confirmed. commit computes the preview
// again inside the transaction, which reads one state of the database. It refuses with the
// new preview if the preview has changed.
//
// The package has no rules about a single operation: differences between operations are in
// their declarations.
package guardrails
