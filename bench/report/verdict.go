package report

import (
	"fmt"

	"github.com/leatdata/leat/bench/suite"
)

// verdict is a contender beside one of its peers.
type verdict struct {
	goal             suite.Goal
	speed, low, high float64
	memory           float64
	// named says that the peer is not the one that all others are measured against.
	named bool
}

// verdicts are a contender's, one for each of its goals; without goals, one beside
// the first contender. The first has none.
func verdicts(r suite.Result, contender int) []verdict {
	if contender == 0 {
		return nil
	}
	goals := r.Case.Contenders[contender].Goals
	if len(goals) == 0 {
		goals = []suite.Goal{{Against: r.Case.Contenders[0].Name}}
	}
	var all []verdict
	for _, goal := range goals {
		peer := r.Case.Peer(goal.Against)
		if peer < 0 {
			panic(fmt.Sprintf("report: %s has no contender %q", r.Case.Name, goal.Against))
		}
		v := verdict{goal: goal, memory: r.Memory(contender, peer), named: peer > 0 || len(goals) > 1}
		v.speed, v.low, v.high = r.Ratio(contender, peer)
		all = append(all, v)
	}
	return all
}

func (v verdict) String() string {
	text := fmt.Sprintf("%.2f (%.2f–%.2f)", v.speed, v.low, v.high)
	if v.named {
		text += " × " + v.goal.Against
	}
	return text
}

func (v verdict) fast() bool { return v.speed >= v.goal.Speed }

func (v verdict) small() bool { return v.goal.Memory == 0 || v.memory <= v.goal.Memory }

// goals tells what was asked and whether it is reached.
func (v verdict) goals() []string {
	var all []string
	if v.goal.Speed > 0 {
		all = append(all, fmt.Sprintf("%.2f: %s", v.goal.Speed, passed(v.fast())))
	}
	if v.goal.Memory > 0 {
		all = append(all, fmt.Sprintf("memory at most %.2f, is %.2f: %s", v.goal.Memory, v.memory, passed(v.small())))
	}
	return all
}

func (v verdict) missed() []string {
	var all []string
	if !v.fast() {
		all = append(all, fmt.Sprintf("%.2f times as fast as %s, goal %.2f", v.speed, v.goal.Against, v.goal.Speed))
	}
	if !v.small() {
		all = append(all, fmt.Sprintf("%.2f times the memory of %s, goal %.2f", v.memory, v.goal.Against, v.goal.Memory))
	}
	return all
}
