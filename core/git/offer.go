package git

// Offer is a repository on GitHub that a person may connect: GitHub has confirmed that the app is
// installed there, and that the person may write to it.
type Offer struct {
	Installation int64
	// Location is "owner/name".
	Location string
}
