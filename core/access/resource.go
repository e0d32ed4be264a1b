package access

// Resource is one of the two hosts that accept credentials.
type Resource int

// The hosts that accept credentials.
const (
	API   Resource = iota // the public API, which accepts API keys and access tokens
	Agent                 // the agent endpoint, which accepts only access tokens
)
