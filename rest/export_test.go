package rest

// NewServer is New with a table of routes of the test's own.
var NewServer = newServer

// IdempotencyKey is for the fuzz target and its table.
var IdempotencyKey = idempotencyKey

// MaxBody is the limit that bodies are tested against.
const MaxBody = maxBody
