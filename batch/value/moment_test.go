package value

import "testing"

func TestMomentsKeepNanoseconds(t *testing.T) {
	for _, text := range []string{
		"2024-01-31 13:05:00.123456789", "1969-12-31 23:59:59.999999999", "0044-03-15 00:00:00.000000001 BC",
		"2024-01-31 00:00:00", "infinity", "0000-00-00 00:00:00",
	} {
		day, nanos, err := ParseMoment([]byte(text), false)
		if got := AppendMoment(nil, day, nanos, false); err != nil || string(got) != text {
			t.Errorf("%s became %s, %v", text, got, err)
		}
	}
	day, nanos, err := ParseMoment([]byte("2024-01-31 13:05:00.000000001+05:30"), true)
	if got := AppendMoment(nil, day, nanos, true); err != nil || string(got) != "2024-01-31 07:35:00.000000001+00" {
		t.Errorf("the instant became %s, %v", got, err)
	}
	if _, _, err := ParseMoment([]byte("2024-01-31 13:05:00"), true); err == nil {
		t.Error("an instant without an offset was read")
	}
	n, err := ParseTimeNanos([]byte("23:59:59.999999999"))
	if got := AppendTimeNanos(nil, n); err != nil || string(got) != "23:59:59.999999999" {
		t.Errorf("the time became %s, %v", got, err)
	}
}
