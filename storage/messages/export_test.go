package messages

// MaxKinds is the largest number of kinds (combinations of channel, identity, template and
// status) that a page of messages reads.
const MaxKinds = maxKinds
