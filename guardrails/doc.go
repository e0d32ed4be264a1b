// Package guardrails is what stands between a caller and an operation. Both
// surfaces call operations only through a [Catalogue], and a Catalogue is only
// made here, so an unguarded operation cannot be mounted.
//
// The rails, in the order in which a call meets them:
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
// The first two happen in [Catalogue.Admit], once for an HTTP request and before
// its body is read; the rest in [Operation.Call]. guard.go holds the order and a
// test holds guard.go to this list.
//
// What a person confirmed is what happens: commit computes the preview once more
// inside the transaction, which reads one state of the database, and refuses
// with the new preview if it differs.
//
// The package owns no policy about a single operation: what differs between
// operations is in their declarations.
package guardrails
