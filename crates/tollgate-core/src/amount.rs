//! Amounts as people write them: times with their unit, and money as a decimal number.

/// Billionths of a dollar in one.
const NANO: u64 = 1_000_000_000;

/// A time as a number with `s`, `m`, `h` or `d`, in milliseconds; none is no such time.
pub fn duration_ms(text: &str) -> Option<u64> {
    let unit = text.chars().last()?;
    let digits = &text[..text.len() - unit.len_utf8()];
    let seconds = match unit {
        's' => 1,
        'm' => 60,
        'h' => 3600,
        'd' => 86_400,
        _ => return None,
    };
    let number: u64 = is_plain(digits).then(|| digits.parse().ok())??;
    number.checked_mul(seconds * 1000).filter(|ms| *ms > 0)
}

/// A date in UTC, with or without a time of day: `2026-12-01`, `2026-12-01T09:00`; in milliseconds since 1970.
pub fn date_ms(text: &str) -> Option<u64> {
    let (date, time) = text.split_once('T').unwrap_or((text, "00:00"));
    let (hour, minute) = time.trim_end_matches('Z').split_once(':')?;
    let number = |text: &str| text.parse::<u64>().ok();
    let mut parts = date.split('-').map(number);
    let (year, month, day) = (parts.next()??, parts.next()??, parts.next()??);
    let (hour, minute) = (number(hour)?, number(minute)?);
    let is_date = parts.next().is_none() && (1970..=9999).contains(&year) && (1..=12).contains(&month);
    if !is_date || !(1..=31).contains(&day) || hour > 23 || minute > 59 {
        return None;
    }
    // Years begin in March, so that the day that comes every four years is their last.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let days = 365 * year + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + day - 1 - 719_468;
    Some((days * 1440 + hour * 60 + minute) * 60_000)
}

/// US dollars as a decimal number such as `2` or `0.25`, in billionths. Never by way of a float: what is written is what counts.
pub fn nano_usd(text: &str) -> Option<u64> {
    let (whole, part) = text.split_once('.').unwrap_or((text, "0"));
    if !is_plain(whole) || !is_plain(part) || part.len() > 9 {
        return None;
    }
    let part: u64 = format!("{part:0<9}").parse().ok()?;
    whole.parse::<u64>().ok()?.checked_mul(NANO)?.checked_add(part).filter(|amount| *amount > 0)
}

/// "$0.0123", from billionths of a dollar; small amounts keep their digits.
pub fn dollars(nano: u64) -> String {
    let digits = format!("{:09}", nano % NANO);
    let end = digits.trim_end_matches('0').len().max(2);
    format!("${}.{}", nano / NANO, &digits[..end])
}

fn is_plain(digits: &str) -> bool {
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_a_unit() {
        assert_eq!(duration_ms("4h"), Some(14_400_000));
        assert_eq!(duration_ms("90s"), Some(90_000));
        for bad in ["", "h", "0m", "4", "4 h", "-1h", "4w", "99999999999999999d", "4é"] {
            assert_eq!(duration_ms(bad), None, "{bad}");
        }
    }

    #[test]
    fn money_is_what_was_written() {
        for (text, nano) in [("2", 2 * NANO), ("0.25", 250_000_000), ("1.10", 1_100_000_000), ("0.000000001", 1)] {
            assert_eq!(nano_usd(text), Some(nano), "{text}");
        }
        for bad in ["", "0", "0.0", "1.", ".5", "-1", "1e3", "$2", "1,5", "0.0000000001", "99999999999999999999"] {
            assert_eq!(nano_usd(bad), None, "{bad}");
        }
    }
}
