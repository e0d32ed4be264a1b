package core

// Origin is the place where a definition is edited.
type Origin string

// The origins of a definition.
const (
	ManagedOrigin Origin = "managed" // in Mailhelm
	GitOrigin     Origin = "git"     // in the connected repository; read-only in Mailhelm
)

// RefuseGitOwned returns the conflict for a write to a definition that came from the
// connected repository. noun names the definition: list, topic.
func RefuseGitOwned(noun string) *Error {
	return Conflict("This "+noun+" is defined by the connected repository, so it is read-only here.", "Change the definition in the repository and let it sync.")
}
