// Package approving holds sends of broadcasts back until a person approves them.
//
// The [Gate] compares each send with the policies of package approvals. If the send must
// wait, the broadcast stays a draft, and an approval freezes exactly what was asked for. On
// the dashboard, a person with the permission approves or rejects it through the [Desk]. No
// operation and no scope does that, so no token can.
//
// A scheduled send is compared with the policy again when it starts, because its audience,
// its template or the policy may have changed since.
package approving
