// Package guardrails has the guardrails (in the code: rails), which are the checks and
// steps between a caller and an operation. REST and MCP call operations only through a
// [Catalogue]. Only this package makes a Catalogue, so an operation cannot be reached
// without its guardrails.
//
// The guardrails, in the order in which they run:
//
//	authenticate   get the principal of the bearer credential     authenticate.go
//	limit          count against the caller's rate limit          limit.go
//	scopes         check the scopes that the operation needs      scopes.go
//	environment    refuse destructive calls of test credentials   environment.go
//	validate       parse strict JSON, check the input schema      validate.go
//	git            protect definitions that come from Git         git.go
//	replay         return stored results for idempotency keys     replay.go
//	confirm        require a signed confirmation                  confirm.go
//	prepare        do the steps that need the network             commit.go
//	bulkhead       limit concurrent expensive reads               bulkhead.go
//	commit         transaction { do, audit line, replay record }  commit.go
//	present        convert the result for REST or MCP             present.go
//
// The first two run in [Catalogue.Admit], once for each HTTP request and before its body is
// read. The others run in [Operation.Call]. The order is in guard.go; a test compares it
// with this list.
//
// An operation has exactly the effect that a person confirmed. commit computes the preview
// again inside the transaction, which sees a single state of the database. If the preview
// has changed, the call fails with the new preview.
//
// The package has no rules about a single operation: differences between operations are in
// their declarations.
package guardrails
