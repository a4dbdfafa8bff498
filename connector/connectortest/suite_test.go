package connectortest

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/leatdata/leat/connector"
)

// faultVariable makes a child of TestTheSuiteFindsFaults run a suite on a
// connector with a fault.
const faultVariable = "LEAT_CONTRACT_FAULT"

func TestMemorySink(t *testing.T) {
	fault := os.Getenv(faultVariable)
	RunSink(t, SinkHarness{
		NewTarget: func(testing.TB) Target {
			s := new(store)
			return Target{
				Open: func() connector.Sink { return &memorySink{store: s, fault: fault} },
				Rows: func() []Row { return s.rows },
			}
		},
		Refused: func(id string) Row { return Row{id, "refused"} },
		Checks:  30,
	})
}

func TestMemorySource(t *testing.T) {
	fault := os.Getenv(faultVariable)
	RunSource(t, SourceHarness{
		New:  func(testing.TB) connector.Source { return &memorySource{fault: fault} },
		Rows: memoryWant(),
	})
}

// Each fault of a connector fails the suite, and in the test that is about it.
func TestTheSuiteFindsFaults(t *testing.T) {
	for _, suite := range []struct {
		test   string
		faults map[string]string
	}{
		{"TestMemorySink", map[string]string{
			"resolving writes":                 "resolving changes nothing",
			"preparing again forgets":          "preparing and registering again changes nothing",
			"registering again resets":         "preparing and registering again changes nothing",
			"a finished run is prepared again": "finishing",
			"claims revive a finished run":     "finishing",
			"finishing twice adds":             "finishing",
			"older tokens claim":               "an older attempt is fenced",
			"tokens do not count":              "an older attempt is fenced",
			"positions are not kept":           "an abandoned attempt leaves what it committed",
			"states lie":                       "preparing and registering again changes nothing",
			"refused records vanish":           "refused records go to Reject, the rest is written",
			"NULL becomes the empty text":      "NULL is not the empty text",
			"rows show before the commit":      "what is not committed is not there",
			"closing commits":                  "what is not committed is not there",
			"commits lose their last row":      "large batches and records",
			"counters start anew":              "refused records go to Reject, the rest is written",
			"contexts are ignored":             "contexts and closing",
		}},
		{"TestMemorySource", map[string]string{
			"splits overlap":                    "splits have each record once",
			"ids start anew":                    "splits have each record once",
			"the end comes early":               "splits have each record once",
			"cells are not canonical":           "batches are bounded and canonical",
			"too little is said to be read":     "batches are bounded and canonical",
			"batches are larger than asked for": "batches are as small as asked for",
			"positions are one too early":       "reading goes on at every position",
			"closing does not end reading":      "closing ends the reading",
			"contexts are ignored":              "contexts end the reading",
		}},
	} {
		for fault, test := range suite.faults {
			t.Run(fault, func(t *testing.T) {
				exe, err := os.Executable()
				if err != nil {
					t.Fatal(err)
				}
				cmd := exec.Command(exe, "-test.run=^"+suite.test+"$", "-rapid.shrinktime=1s", "-rapid.nofailfile")
				cmd.Env = append(os.Environ(), faultVariable+"="+fault)
				out, err := cmd.CombinedOutput()
				if err == nil {
					t.Fatalf("the suite passes:\n%s", out)
				}
				if want := "--- FAIL: " + suite.test + "/" + strings.ReplaceAll(test, " ", "_"); !strings.Contains(string(out), want) {
					t.Errorf("%s is not among the failures:\n%s", want, out)
				}
			})
		}
	}
}
