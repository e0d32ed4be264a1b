package core

// Origin is the place where a definition, such as a list or a topic, is edited.
type Origin string

// The places where a definition (a list, a topic or the like) can be edited.
const (
	ManagedOrigin Origin = "managed" // edited in Mailhelm
	GitOrigin     Origin = "git"     // edited in the connected repository; read-only in Mailhelm
)

// RefuseGitOwned returns the conflict error for a write to a definition that comes from the
// connected repository. noun names the kind of definition, such as "list".
func RefuseGitOwned(noun string) *Error {
	return Conflict("This "+noun+" is defined by the connected repository, so it is read-only here.", "Change the definition in the repository and let it sync.")
}
