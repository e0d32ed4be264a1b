package messages

// MaxKinds is how many kinds of messages a page looks at.
const MaxKinds = maxKinds
