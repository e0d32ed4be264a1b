// Package comparison shows what one change of a domain's records did: the figures of the
// reports before it and after it. [Compare] computes them.
//
// The package states no cause. It withholds the difference of the sides where the figures
// do not allow one. It stores nothing and asks no database and no network.
//
// # Days
//
// A side has whole UTC days. Before the change it is the given number of days that end with
// the day before the change. The guard band is the two days (48 hours) after the change, in
// which receivers still have the old record in their caches. The side after the change
// begins with the first day that begins after the guard band or at its end. The day of the
// change and the days that the guard band touches are on no side.
//
// Days of a side are cut, which means that their messages are not counted, for the first of
// these reasons that applies (see [Reason]): the day is not over; storage no longer has it
// completely; it is in the guard band of an earlier change that is itself before the window;
// no report covers it. Other changes in the window cut no days: they decline the comparison.
package comparison
