// Package core is what Mailhelm does, without saying over which wire.
//
// Mailhelm stands beside a customer's own email-sending account and lets two
// kinds of caller work with it: agents over MCP and integrators over REST. Both
// call the same operations. An operation ([Op]) is declared once, as a value:
// its name, its purpose, what it does to the world, the scopes it needs, the
// shape of what goes in and what comes out, and two functions. Tools, routes,
// schemas, documentation, audit lines and metrics are read from that value.
//
// # What this package owns
//
// The vocabulary that every other package speaks: operations ([Op],
// [Operation], [Call]), callers ([Principal], [Scope]), failures ([Error],
// [Code], [Problem]), pages and cursors ([Page], [EncodeCursor]), identifiers
// and time ([NewID], [Clock]) and strict JSON ([CheckJSON]).
//
// # What it does not
//
// No HTTP, no SQL, no MCP, no provider SDK. Those are adapters and import core,
// never the reverse; conformance/layout holds that as a test.
//
// # Size
//
// It is one package of 3,100 lines in 35 files because nearly every file of the product
// uses several of these words. One import has them all, and each word is a file.
//
// # Reading order
//
//  1. op.go, call.go, operation.go: what an operation is.
//  2. principal.go, scope.go: who may call it.
//  3. error.go, codes.go, problem.go: how a refusal is said.
//  4. contacts/contacts_upsert.go: a whole operation, from arguments to result.
//  5. catalogue/: every operation in order, the product's table of contents.
//  6. ../guardrails: what stands between a caller and an operation.
package core
