// Package rest is the public API: the operations of a [guardrails.Catalogue] as
// HTTP routes under /v1, and the two documents that describe them.
//
// # What this package owns
//
// The table of routes (routes.go), the one handler behind all of them (call.go),
// how a request becomes the arguments of an operation (arguments.go, body.go),
// how a result or a refusal becomes an answer (answer.go, problem.go, headers.go),
// and the OpenAPI document (openapi.go). The fetch host is in pull, the served
// documentation in docs.
//
// # What it does not
//
// It decides nothing about an operation: who may call it, what its arguments
// mean and what it returns are declared in core and guarded in guardrails. It
// knows no storage, and neither of the other two surfaces.
//
// # How a request is read
//
//   - Path parameters are percent-decoded exactly once, from the path as it was
//     sent: %2F stays inside its segment, %2540 means the text "%40", and a plus
//     sign is a plus sign.
//   - GET and DELETE take the rest of their arguments from the query, each
//     parameter at most once; integers and booleans are converted as the input
//     schema says. A body is refused.
//   - POST, PUT and PATCH take the rest from a JSON object in the body, with the
//     content type application/json or one that ends in +json. A query is
//     refused, and so is a member that the path names already.
//   - A body needs a content type, may not be compressed, and has at most 1 MiB, or
//     what its route says.
//
// # What it expects of the HTTP server
//
// The handler must see the path as it came: no ServeMux in front of it that
// cleans paths. The server in front sets ReadHeaderTimeout, ReadTimeout and
// MaxHeaderBytes (64 KiB is plenty: the longest credential has 8), because a
// handler cannot. Answers are small and written at once, so a short
// WriteTimeout does no harm as long as it exceeds the sending account's deadline.
package rest
