package messages

// MaxKinds is the greatest number of kinds of messages that a page reads.
const MaxKinds = maxKinds
