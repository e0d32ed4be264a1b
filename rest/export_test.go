package rest

// NewServer is the function newServer, which takes a table of routes.
var NewServer = newServer

// IdempotencyKey is the function idempotencyKey, which parses the header Idempotency-Key.
var IdempotencyKey = idempotencyKey

// MaxBody is the maximum size of a request body, in bytes.
const MaxBody = maxBody
