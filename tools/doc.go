// Package tools is the agent endpoint: it serves the operations as MCP tools over
// streamable HTTP, without sessions.
//
// A request passes the prehandler, and then one of two others:
//
//	prehandler   everything that can be decided before a tool runs: the path and
//	             method, the origin, the token and its rate limit, the message (in
//	             package rpc), the tool's name and scopes         prehandler.go
//	call         tools/call and tools/list, which are almost all traffic: a
//	             guardrails.Request of the call, and its outcome in the form of
//	             each revision    direct.go, call.go, result.go, answer.go, list.go
//	SDK          all other methods: initialize, server/discover
//	                                                  protocol.go, transport.go
//
// Answers without the SDK have the same bytes as the SDK's (core/doc/decisions/0128). The
// tests pass the same messages to the SDK and compare.
//
// The prehandler reads the body once and passes the result to the handler as an exchange,
// the state of one HTTP request. The SDK's own HTTP handler is not used: it reads a body
// several times, and answers many invalid requests in plain text.
//
// A refusal that concerns HTTP is a problem document. A refusal that concerns a JSON-RPC
// request is a JSON-RPC error. A tool that refuses or fails returns a result with isError.
//
// This package has the table of tools and the format of calls. The declaration of an
// operation says what a tool needs and does, and its hints. Package guardrails decides what
// a caller may do. The authorization server issues the access tokens.
package tools
