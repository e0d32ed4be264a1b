// Package readiness says whether the DMARC policy of a domain may become stricter, by one
// rung (none, quarantine, reject), and which record to publish for it. [Assess] computes it
// from the figures of the reports of 30 days.
//
// The package publishes nothing and changes nothing. A record is a text that a person may
// publish in DNS. It asks no database and no network: storage provides the figures, and a
// caller stores what [Assessment.Acknowledge] returns.
//
// # Window
//
// The window is the 30 complete UTC days before the day of the measurement. The present day
// is never part of it, because its reports arrive later. A day is covered if at least one
// report that counts is about it (see [figures.DaysOfReport]), or if it has messages. Days
// that are not covered are gaps: they are not days without failures, so amounts per day are
// divided by the covered days. Figures outside of the window are ignored.
//
// # Criteria
//
// Each criterion compares an exact amount with its threshold. A value that is equal to the
// threshold meets it. A criterion whose value is unknown is not met. The criteria on sources
// are unknown without a covered day.
//
//   - coverage_days: covered days, at least 14.
//   - message_volume: messages of all sources, at least 1000.
//   - distinct_providers: reporters with a report about a day of the window, at least 3.
//   - pass_rate: aligned messages of all messages. It has no threshold and never blocks. It
//     is met if it is known.
//   - no_unaligned_sending: sources that send for the domain (see [figures.Source.Sends])
//     whose messages all fail, at most 0. Messages that a relay broke are not counted here.
//   - acceptable_impact: failing messages of confirmed sources per covered day, at most 10,
//     without those that a relay broke. It is not met either if one unreviewed source has
//     100 failing messages or more in the window, here with those that a relay broke.
//     Messages of rejected sources are not counted: the policy exists to stop them.
//   - time_at_current_policy: complete days of 24 hours since the present policy was
//     published, at least 30. Unknown if the time is unknown. Only for reject.
//   - no_new_unknown_sources: sources that are unknown and unreviewed and were first seen in
//     the window or later, or at an unknown time, at most 0. Only for reject.
//
// If the target is none, there is no record yet. Publishing one asks for reports and changes
// nothing for mail, so no criterion blocks. After the last rung, no criterion blocks either,
// because there is nothing to decide.
//
// # Acknowledgement
//
// Messages that a relay broke cannot be repaired by the owner of the domain, and a stricter
// policy loses them. If all blocking criteria are met and there is at least one such message
// of a source that is not rejected, a person must acknowledge the cost first. An
// acknowledgement has the figures at its acceptance and keeps them. It is valid for the same
// step only: the same present policy and target, and only while the policy was not changed
// after it. Later figures do not make it invalid.
package readiness
