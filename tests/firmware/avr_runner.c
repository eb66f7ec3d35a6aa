/* avr_runner MCU PROGRAM [CYCLES]: runs an AVR program in simavr. UART 0 to stdout; a write to
   GPIOR1 ends the run with that exit code; a write to GPIOR2 notes the cycle, and four reads of
   GPIOR0 tell it, high byte first. 98: the processor crashed, 97: more than CYCLES. The lowest
   stack pointer goes to stderr if AVR_RUNNER_STACK is set. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <simavr/avr_uart.h>
#include <simavr/sim_avr.h>
#include <simavr/sim_elf.h>
#include <simavr/sim_io.h>

enum { GPIOR0 = 0x3E, GPIOR1 = 0x4A, GPIOR2 = 0x4B }; /* in data space, ATmega2560 and 328 */

static int done, code;
static uint32_t noted;

static void on_text(struct avr_irq_t *irq, uint32_t value, void *param) {
    (void)irq;
    (void)param;
    putchar((int)value);
}

static void on_exit_code(struct avr_t *avr, avr_io_addr_t address, uint8_t value, void *param) {
    (void)avr;
    (void)address;
    (void)param;
    code = value;
    done = 1;
}

static void on_note(struct avr_t *avr, avr_io_addr_t address, uint8_t value, void *param) {
    (void)address;
    (void)value;
    (void)param;
    noted = (uint32_t)avr->cycle;
}

static uint8_t on_tell(struct avr_t *avr, avr_io_addr_t address, void *param) {
    uint8_t byte = (uint8_t)(noted >> 24);
    (void)avr;
    (void)address;
    (void)param;
    noted <<= 8;
    return byte;
}

static void on_log(avr_t *avr, const int level, const char *format, va_list arguments) {
    (void)avr;
    if (level == LOG_ERROR) vfprintf(stderr, format, arguments);
}

int main(int argc, char **argv) {
    static elf_firmware_t firmware;
    unsigned long long most = argc > 3 ? strtoull(argv[3], NULL, 10) : 100000000000ull;
    unsigned lowest = 0xFFFF;
    uint32_t flags = 0;
    avr_t *avr;

    avr_global_logger_set(on_log);
    if (argc < 3 || elf_read_firmware(argv[2], &firmware) != 0 ||
        (avr = avr_make_mcu_by_name(argv[1])) == NULL) {
        fprintf(stderr, "usage: %s MCU PROGRAM [CYCLES]\n", argv[0]);
        return 126;
    }
    firmware.frequency = 16000000;
    avr_init(avr);
    avr_load_firmware(avr, &firmware);
    avr_ioctl(avr, AVR_IOCTL_UART_GET_FLAGS('0'), &flags);
    flags &= ~(uint32_t)(AVR_UART_FLAG_STDIO | AVR_UART_FLAG_POLL_SLEEP);
    avr_ioctl(avr, AVR_IOCTL_UART_SET_FLAGS('0'), &flags);
    avr_irq_register_notify(avr_io_getirq(avr, AVR_IOCTL_UART_GETIRQ('0'), UART_IRQ_OUTPUT),
                            on_text, NULL);
    avr_register_io_write(avr, GPIOR1, on_exit_code, NULL);
    avr_register_io_write(avr, GPIOR2, on_note, NULL);
    avr_register_io_read(avr, GPIOR0, on_tell, NULL);
    while (!done) {
        int state = avr_run(avr);
        unsigned sp = avr->data[R_SPL] | (unsigned)avr->data[R_SPH] << 8;
        if (sp > 0x200 && sp < lowest) lowest = sp;
        if (state == cpu_Done || state == cpu_Crashed) {
            fprintf(stderr, "the processor stopped at %#lx\n", (unsigned long)avr->pc);
            code = 98;
            break;
        }
        if (avr->cycle > most) {
            fprintf(stderr, "still running after %llu cycles\n", most);
            code = 97;
            break;
        }
    }
    fflush(stdout);
    if (getenv("AVR_RUNNER_STACK")) fprintf(stderr, "stack %u\n", avr->ramend - lowest);
    return code;
}
