// Package rpc reads the JSON-RPC message of an MCP request and forms the JSON-RPC errors that
// refuse a request.
//
// [Message.Read] decides everything that follows from the body and the headers alone: strict
// JSON, the members of the message, the protocol revision, and whether the method is served.
// Package tools checks the origin, the token and the media types before, and the called tool
// afterwards.
package rpc
