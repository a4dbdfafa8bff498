// Package crash kills real Leat processes at random moments and at named
// points, goes on with what they left, and compares the target with the
// source, row for row. It has tests only.
//
// Scenes in which a rule of exactness is broken on purpose, by LEAT_BREAK, show
// that the comparison finds rows that are lost and doubled.
//
// Moments are drawn over the time that an undisturbed run takes; the seed is
// printed, and LEAT_SEED repeats it. LEAT_KILLS is the number of kills per
// pair of connectors, 8 unless told.
package crash
