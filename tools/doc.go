// Package tools is the agent endpoint: the operations as MCP tools over
// streamable HTTP, without sessions and without streams.
//
// A request passes three layers:
//
//	prehandler   everything that can be decided before a tool runs: the path and
//	             method, the origin, the token and its bucket, the JSON, the
//	             protocol revision and its headers, the method, the tool's name
//	             and scopes                                       prehandler.go
//	SDK          the protocol itself: initialize, server/discover, results in
//	             the form of each revision          protocol.go, transport.go
//	call         one handler for all tools: it makes a guardrails.Request of the
//	             call, and an MCP result of the outcome       toolset.go, call.go
//
// The prehandler reads the body once and passes the result to the handler as an
// exchange. The SDK's own HTTP handler is not used: it reads a body several times,
// and answers many invalid requests in plain text.
//
// It is one package of 2,500 lines because all three layers share the exchange and the
// forms of a refusal. Content, schemas and the connection have packages of their own below.
//
// A refusal that concerns HTTP is a problem document; one that concerns a JSON-RPC
// request is a JSON-RPC error; a tool that refuses or fails answers a result with
// isError.
//
// The package owns the table of tools and how a call looks on this wire. What a tool
// needs, does and hints at is declared by its operation. The package does not decide what
// a caller may do (guardrails does), knows nothing of a single operation, and issues no
// tokens.
package tools
