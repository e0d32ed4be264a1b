// Package core has the operations of Mailhelm, independent of the protocol.
//
// Mailhelm works with a customer's own email-sending account. It has two kinds of callers:
// agents over MCP and integrators over REST. Both call the same operations. An operation
// ([Op]) is declared once, as a value with its name, its purpose, its effect, the scopes it
// needs, the types of its input and output, and its functions. Tools, routes, schemas,
// documentation, audit entries and metrics are derived from that value.
//
// # What this package owns
//
// The types that every other package uses: operations ([Op], [Operation], [Call]), callers
// ([Principal], [Scope]), failures ([Error], [Code], [Problem]), pages and cursors ([Page],
// [EncodeCursor]), identifiers and time ([NewID], [Clock]) and strict JSON ([CheckJSON]).
//
// # What it does not own
//
// HTTP, SQL, MCP and provider SDKs. Packages with these import core, never the reverse; a
// test in conformance/layout checks that.
//
// # Size
//
// It is one package because nearly every file of the product uses several of these types.
// One import has them all, and each type has its own file.
//
// # Reading order
//
//  1. op.go, call.go, operation.go: what an operation is.
//  2. principal.go, scope.go: who may call it.
//  3. error.go, codes.go, problem.go: how a call is refused.
//  4. contacts/contacts_upsert.go: a whole operation, from arguments to result.
//  5. catalogue/: every operation, in the order of the documentation.
//  6. ../guardrails: the checks between a caller and an operation.
package core
